import { ListLoading } from '../_versioned/list-skeleton'

export default function StartLoading() {
  return <ListLoading title="Start" />
}
