import { ListLoading } from '../_versioned/list-skeleton'

export default function SchedulesLoading() {
  return <ListLoading title="Schedules" />
}
