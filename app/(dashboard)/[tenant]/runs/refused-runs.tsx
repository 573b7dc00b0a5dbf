'use client'
import { List, Text } from '@mantine/core'
import { ErrorCode } from '@/app/_ui/error-code'
import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import type { RefusedRun } from '@/server/runs/retry-many'
import { useTenant } from '../tenant-context'

/** The runs that a change of many skipped, with the reason for each. */
export function RefusedRuns({ refused }: { refused: RefusedRun[] }) {
  const { path } = useTenant()
  return (
    <div>
      <Text size="sm">{refused.length === 1 ? 'One run was' : `${refused.length} runs were`} skipped:</Text>
      <List size="sm">
        {refused.slice(0, 10).map(({ runId, code, message, details }) => (
          <List.Item key={runId}>
            <Link href={path(`/runs/${runId}`)}>
              <IdText id={runId} copy={false} />
            </Link>{' '}
            {details?.[0]?.message ?? message} (<ErrorCode code={code} />)
          </List.Item>
        ))}
      </List>
    </div>
  )
}
