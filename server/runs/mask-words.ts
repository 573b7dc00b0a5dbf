import type { JsonLike } from '../definition/json'
import type { Masker } from '../vault/mask'

/** Fields of a run, a step or a pause that hold what people, tools or models have worded. */
const WORDS = ['workflowName', 'stepName', 'title', 'error', 'cancellation', 'reason', 'signal', 'usage'] as const

/**
 * What is shown of a run, a step or a pause, with the tenant's vault values masked wherever words stand. Every read of
 * runs goes through this, since a name or a reason may hold a value that only later came into the vault. Data has a
 * field of its own in every answer and is masked whole, see `cutValue`.
 */
export function maskWords<R extends { [W in (typeof WORDS)[number]]?: JsonLike }>(row: R, masker: Masker): R {
  const masked = WORDS.flatMap((word) => (row[word] === undefined ? [] : [[word, masker.json(row[word])] as const]))
  return Object.assign({}, row, Object.fromEntries(masked))
}
