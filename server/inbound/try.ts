import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { parseInput } from '../parse'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { unmaskedBody } from '../vault/unmask'
import { versionToRun } from '../workflows/version-to-run'
import { keptParts } from './content'
import { findInbound, type InboundRow, type OneInbound } from './find'
import { filteredBecause, mapToStart } from './map'
import { TryInbound } from './schema'

/**
 * Tries a delivery: whether the filter accepts it, and its START fields. Starts and stores nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, NOT_FOUND, INVALID_INPUT
 */
export async function tryInbound(ctx: ServiceContext, { body, ...one }: OneInbound & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  const webhook = await findInbound(ctx, one)
  const masker = await tenantMasker(ctx)
  const given = parseInput(TryInbound, rulesUnmasked(body, webhook, masker))
  const rules = {
    scheme: webhook.scheme,
    mapping: given.mapping ?? webhook.mapping,
    when: given.when === undefined ? webhook.when : given.when,
  }
  const parts = keptParts(Object.entries(given.headers), given.query, webhook.signatureHeader)
  const sent = { body: given.body === undefined ? {} : given.body, ...parts }
  const { definition } = await versionToRun(ctx, one.workflowId, { wanted: undefined, fromCache: false })
  const { data, problems } = mapToStart(rules, definition.payload, sent)
  const filtered = filteredBecause(rules, sent)
  return {
    starts: filtered === null && problems.length === 0,
    filtered: filtered && masker.text(filtered),
    data: masker.json(data),
    problems: masker.json(problems),
  }
}

/** Restores masked values in the rules, which the caller saw masked; the sample is used as sent. */
function rulesUnmasked(body: unknown, { mapping, when }: InboundRow, masker: Masker): unknown {
  if (!isJsonObject(body)) return body
  const { mapping: given, when: wanted, ...sample } = body
  const rules = {
    ...(given === undefined ? {} : { mapping: given }),
    ...(wanted === undefined ? {} : { when: wanted }),
  }
  return { ...sample, ...(unmaskedBody(rules, { mapping, when }, masker) as object) }
}
