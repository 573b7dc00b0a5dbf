import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { ListSkeleton } from '../_versioned/list-skeleton'

export default function SchedulesLoading() {
  return (
    <>
      <PageHeader title="Schedules" />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
