import { Text } from '@mantine/core'
import { runsText } from '../../../runs-text'
import type { useMove } from './use-move'

/** What moving back does, and what became of it. */
export function MovedBack({ mover: { moved, back } }: { mover: ReturnType<typeof useMove> }) {
  if (!moved || moved.runIds.length === 0) return null
  if (!back) {
    return (
      <Text size="sm" c="dimmed">
        As long as this page is open, you can move back those that have begun no step since. Their tasks ask what they
        asked before. Votes that were dropped do not come back.
      </Text>
    )
  }
  const gone = moved.runIds.length - back.count - back.refused.length
  return (
    <Text size="sm" role="status">
      {runsText(back.count)} {back.count === 1 ? 'was' : 'were'} moved back.
      {gone > 0 &&
        ` ${runsText(gone)} ${gone === 1 ? 'has' : 'have'} begun a step since, and ${gone === 1 ? 'stays' : 'stay'}.`}
    </Text>
  )
}
