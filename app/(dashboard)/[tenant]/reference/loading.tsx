import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from '../_versioned/list-skeleton'

export default function ReferenceLoading() {
  return (
    <>
      <PageHeader title="API reference" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
