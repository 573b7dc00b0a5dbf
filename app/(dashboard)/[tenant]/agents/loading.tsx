import { ListLoading } from '../_versioned/list-skeleton'

export default function AgentsLoading() {
  return <ListLoading title="Agents" />
}
