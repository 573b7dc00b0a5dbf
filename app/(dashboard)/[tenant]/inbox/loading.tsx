import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { QueueSkeleton } from './queue-skeleton'

export default function Loading() {
  return (
    <>
      <PageHeader title="Inbox" />
      <PageBody>
        <QueueSkeleton />
      </PageBody>
    </>
  )
}
