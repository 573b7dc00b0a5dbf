import { ListLoading } from '../_versioned/list-skeleton'

export default function ReferenceLoading() {
  return <ListLoading title="API reference" />
}
