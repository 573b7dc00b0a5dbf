'use client'
import { type PillStatus, StatusPill } from '@/app/_ui/status-pill'
import type { InboundDelivery } from '@/server/inbound/present'

export type Outcome = InboundDelivery['status']

export const OUTCOMES: Record<Outcome, string> = {
  started: 'Started a run',
  filtered: 'Filtered',
  invalid: 'Does not match START',
  refused: 'Start refused',
}
const PILLS: Record<Outcome, PillStatus> = {
  started: 'completed',
  filtered: 'queued',
  invalid: 'failed',
  refused: 'failed',
}

export function OutcomePill({ status }: { status: Outcome }) {
  return <StatusPill status={PILLS[status]} label={OUTCOMES[status]} />
}
