import { ListLoading } from '../_versioned/list-skeleton'

export default function ToolsLoading() {
  return <ListLoading title="Tools" />
}
