import { ScreenSkeleton } from '../../_versioned/screen-skeleton'

export default function AgentLoading() {
  return <ScreenSkeleton title="Agent" />
}
