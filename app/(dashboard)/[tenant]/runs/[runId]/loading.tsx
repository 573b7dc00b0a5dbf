import { RunSkeleton } from './run-detail'

export default function Loading() {
  return <RunSkeleton />
}
