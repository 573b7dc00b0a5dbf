import { CLEANUP_BRANCH } from '../../run-store/names'
import type { Position } from './types'

/** The path that a walk is on because its run ends: nobody is asked anything there. */
export function pathAside({ ref, run }: Pick<Position, 'ref' | 'run'>): 'cleanup' | 'failure' | null {
  if (ref.branch === CLEANUP_BRANCH) return 'cleanup'
  return run.failing ? 'failure' : null
}
