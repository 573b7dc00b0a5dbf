import { type AnswerEnd, isRefusal, whyNotWhole } from './answer-end'
import { ModelFailure } from './failure'

/** @throws ModelFailure if the answer is incomplete, otherwise for the given problem, if any */
export function requireWhole(
  provider: string,
  end: AnswerEnd,
  { maxOutputTokens, problem = null }: { maxOutputTokens: number | undefined; problem?: string | null },
): void {
  const why = whyNotWhole(end, maxOutputTokens)
  const cut = end.refusal === null ? why && `gave no whole answer: it ${why}` : `refused to answer: ${end.refusal}`
  const reason = cut ?? problem
  if (reason !== null)
    throw new ModelFailure(provider, reason, { answer: end, kind: isRefusal(end) ? 'refused' : null })
}
