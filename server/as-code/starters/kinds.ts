import type { z } from 'zod'
import { inboundWebhooks } from '@/db/schema/inbound'
import { schedules } from '@/db/schema/schedules'
import type { ServiceContext, TransactionContext } from '../../context'
import type { AuditDetails } from '../../definition/audit'
import type { JsonObject } from '../../definition/json'
import type { InboundRow } from '../../inbound/find'
import {
  changeInbound,
  checkMapping,
  type InboundContent,
  insertInbound,
  removeInbound,
  settingsOf,
} from '../../inbound/write'
import { scheduleMaskers } from '../../schedules/masker'
import type { ScheduleRow } from '../../schedules/present'
import { changeSchedule, checkData, insertSchedule, removeSchedule, type ScheduleContent } from '../../schedules/write'
import type { Masker } from '../../vault/mask'
import type { Content, Kind } from '../kinds'
import type { DefinedInbound, DefinedSchedule } from '../schema'
import { unless } from '../write'

export type StarterRow = ScheduleRow | InboundRow

/** The content of a starter's definition. */
export interface StarterContent extends Content {
  workflowId: string
  enabled: boolean
}

/** A kind whose objects start a workflow automatically. They have no versions: a save takes effect immediately. */
export interface StarterKind extends Kind {
  word: 'schedule' | 'inboundWebhook'
  table: typeof schedules | typeof inboundWebhooks
  contentOf(item: object): StarterContent
  ofRow(row: StarterRow): StarterContent
  /** The masker of each row for the caller, by id. */
  maskers(ctx: ServiceContext, rows: StarterRow[], vault: Masker): Promise<(id: string) => Masker>
  insert(tx: TransactionContext, id: string, content: StarterContent, by: AuditDetails): Promise<StarterRow>
  change(tx: TransactionContext, row: StarterRow, content: StarterContent, by: AuditDetails): Promise<void>
  remove(tx: TransactionContext, row: StarterRow, by: AuditDetails): Promise<void>
  /**
   * Checks that it can start its workflow.
   * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
   */
  check(tx: TransactionContext, content: StarterContent): Promise<void>
  /** Why it cannot work yet, for lack of something that files never contain. */
  lacks(row: StarterRow): string | null
}

const uses = ({ workflowId }: StarterContent) => [{ kind: 'workflow' as const, id: workflowId }]

const SCHEDULES: StarterKind = {
  word: 'schedule',
  plural: 'schedules',
  table: schedules,
  isThere: undefined,
  contentOf: ({ id: _id, ...content }: z.output<typeof DefinedSchedule>): ScheduleContent => content,
  ofRow: ({ workflowId, name, cron, timeZone, catchUp, data, enabled }: ScheduleRow): ScheduleContent => ({
    ...{ workflowId, name, cron, timeZone, catchUp, data, enabled },
  }),
  maskers: (ctx, rows: ScheduleRow[], vault) => scheduleMaskers(ctx, rows, vault),
  write: ({ workflowId, name, cron, timeZone, catchUp, data, enabled }: ScheduleContent): JsonObject => ({
    ...{ name, workflowId, cron },
    ...unless(timeZone === 'UTC', { timeZone }),
    ...unless(catchUp === 'skip', { catchUp }),
    ...unless(Object.keys(data).length === 0, { data }),
    ...unless(enabled, { enabled }),
  }),
  uses,
  insert: (tx, id, content: ScheduleContent, by) => insertSchedule(tx, id, content, by),
  change: (tx, row: ScheduleRow, content: ScheduleContent, by) => changeSchedule(tx, row, content, by),
  remove: (tx, row: ScheduleRow, by) => removeSchedule(tx, row, by),
  check: (tx, { workflowId, data }: ScheduleContent) => checkData(tx, workflowId, data),
  lacks: () => null,
}

const INBOUND_WEBHOOKS: StarterKind = {
  word: 'inboundWebhook',
  plural: 'inboundWebhooks',
  table: inboundWebhooks,
  isThere: undefined,
  contentOf: ({ id: _id, ...content }: z.output<typeof DefinedInbound>): InboundContent => ({
    ...content,
    ...settingsOf(content.scheme, content),
  }),
  ofRow: (row: InboundRow): InboundContent => {
    const { workflowId, name, scheme, signatureHeader, encoding, idHeader, mapping, when, enabled } = row
    return { workflowId, name, scheme, signatureHeader, encoding, idHeader, mapping, when, enabled }
  },
  maskers: async (_ctx, _rows, vault) => () => vault,
  write: (content: InboundContent): JsonObject => {
    const { workflowId, name, scheme, signatureHeader, encoding, idHeader, mapping, when, enabled } = content
    return {
      ...{ name, workflowId, scheme },
      ...unless(signatureHeader === null, { signatureHeader }),
      ...unless(encoding === null || encoding === 'hex', { encoding }),
      ...unless(idHeader === null, { idHeader }),
      ...unless(Object.keys(mapping).length === 0, { mapping }),
      ...unless(when === null, { when }),
      ...unless(enabled, { enabled }),
    }
  },
  uses,
  insert: (tx, id, content: InboundContent, by) => insertInbound(tx, id, content, null, by),
  change: (tx, row: InboundRow, content: InboundContent, by) => changeInbound(tx, row, content, by),
  remove: (tx, row: InboundRow, by) => removeInbound(tx, row, by),
  check: (tx, { workflowId, mapping }: InboundContent) => checkMapping(tx, workflowId, mapping),
  lacks: ({ scheme, secrets }: InboundRow) =>
    scheme === 'none' || secrets.length > 0 ? null : 'It has no secret yet, and refuses what it is sent: give it one.',
}

/** In export order. */
export const STARTER_KINDS: readonly StarterKind[] = [SCHEDULES, INBOUND_WEBHOOKS]
