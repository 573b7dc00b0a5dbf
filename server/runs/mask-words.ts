import type { JsonLike } from '../definition/json'
import type { Masker } from '../vault/mask'

/** Fields of a run, step or pause with text from people, tools or models. */
const WORDS = [
  'workflowName',
  'businessKey',
  'stepName',
  'title',
  'label',
  'error',
  'failing',
  'cancellation',
  'reason',
  'signal',
  'usage',
  'logs',
] as const

/**
 * Masks the tenant's vault values in the texts of a run, step or pause. Every read of runs goes through this, because a
 * name or a reason may contain a value that was only later put into the vault. Run data is masked as a whole, see
 * `cutValue`.
 */
export function maskWords<R extends { [W in (typeof WORDS)[number]]?: JsonLike }>(row: R, masker: Masker): R {
  if (masker.longest === 0) return row
  const masked = WORDS.flatMap((word) => (row[word] === undefined ? [] : [[word, masker.json(row[word])] as const]))
  return Object.assign({}, row, Object.fromEntries(masked))
}
