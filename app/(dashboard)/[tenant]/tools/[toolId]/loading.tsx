import { ScreenSkeleton } from '../../_versioned/screen-skeleton'

export default function ToolLoading() {
  return <ScreenSkeleton title="Tool" />
}
