import { ScreenSkeleton } from '../../_versioned/screen-skeleton'

export default function StartPageLoading() {
  return <ScreenSkeleton title="Start" />
}
