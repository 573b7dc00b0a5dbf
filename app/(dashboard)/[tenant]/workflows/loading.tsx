import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from './list-skeleton'

export default function Loading() {
  return (
    <>
      <PageHeader title="Workflows" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
