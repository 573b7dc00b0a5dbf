'use client'
import { Skeleton } from '@mantine/core'
import { ErrorState } from '@/app/_ui/error-state'
import { StatusPill } from '@/app/_ui/status-pill'
import type { ReadCall } from '@/server/runs/find-call'
import { CallDetails } from '../../_calls/call-details'
import { hasFailed } from '../../_calls/call-text'
import { useCall } from '../../_calls/use-call'
import { Frame } from './step-panel'

/** A call of an agent, beside the timeline. */
export function CallPanel({ onClose, ...at }: ReadCall & { onClose: () => void }) {
  const query = useCall(at)
  const { data, error } = query
  return (
    <Frame
      title={data ? data.title : 'Call'}
      aside={data && <StatusPill status={hasFailed(data) ? 'failed' : 'completed'} />}
      onClose={onClose}
    >
      {data && <CallDetails call={data} at={at} />}
      {!data && error && <ErrorState error={error} onRetry={() => query.refetch()} />}
      {!data && !error && <Skeleton height={120} radius="md" />}
    </Frame>
  )
}
