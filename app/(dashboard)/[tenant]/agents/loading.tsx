import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from '../_versioned/list-skeleton'

export default function AgentsLoading() {
  return (
    <>
      <PageHeader title="Agents" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
