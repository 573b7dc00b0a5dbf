import { RunSkeleton } from './run-skeleton'

export default function Loading() {
  return <RunSkeleton />
}
