import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from '../_versioned/list-skeleton'

export default function ToolsLoading() {
  return (
    <>
      <PageHeader title="Tools" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
