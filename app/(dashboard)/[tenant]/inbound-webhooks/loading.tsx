import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from '../_versioned/list-skeleton'

export default function InboundLoading() {
  return (
    <>
      <PageHeader title="Inbound webhooks" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
