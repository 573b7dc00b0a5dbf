'use client'
import { type PillStatus, StatusPill } from '@/app/_ui/status-pill'
import type { InboundDelivery } from '@/server/inbound/present'

const PILLS: Record<InboundDelivery['status'], [PillStatus, string]> = {
  started: ['completed', 'Started a run'],
  filtered: ['queued', 'Filtered'],
  invalid: ['failed', 'Does not match START'],
  refused: ['failed', 'Start refused'],
}

/** What became of a delivery. */
export function OutcomePill({ status }: { status: InboundDelivery['status'] }) {
  const [pill, label] = PILLS[status]
  return <StatusPill status={pill} label={label} />
}
