import { commitStatement } from '@/server/interpreter/write/commit-sql'
import { insertStatement } from '@/server/interpreter/write/insert-sql'

/**
 * The shapes that some sixty test files of the interpreter, of runs, of steps and of the API use. What asks for another
 * one adds it here. Only what a shape has is named: no records, and no event, go without saying.
 */
export const SHAPES = `
commit completes answers begun
commit completes answers ends
commit completes answers ends fails one
commit completes answers ends one
commit completes answers ends one outbox
commit completes answers ends outbox
commit completes answers many
commit completes begun
commit completes begun calls
commit completes ends
commit completes ends fails
commit completes ends fails many
commit completes ends fails one
commit completes ends fails one recalls
commit completes ends job
commit completes ends many
commit completes ends many recalls
commit completes ends one
commit completes ends one recalls
commit completes ends recalls
commit completes fails begun
commit completes fails many
commit completes many
commit moves
commit moves begun
commit moves begun asks
commit moves begun asks job
commit moves begun calls
commit moves completes
commit moves completes answers
commit moves completes answers begun
commit moves completes answers begun asks
commit moves completes answers begun job
commit moves completes answers ends
commit moves completes answers ends fails one
commit moves completes answers ends job
commit moves completes answers ends many
commit moves completes answers ends one
commit moves completes answers ends one job
commit moves completes answers ends one presumes
commit moves completes answers fails many
commit moves completes answers fails many job
commit moves completes answers many asks
commit moves completes answers one
commit moves completes begun
commit moves completes begun asks
commit moves completes ends
commit moves completes ends fails many
commit moves completes ends fails one
commit moves completes ends many
commit moves completes ends one
commit moves completes fails many
commit moves completes many
commit moves completes many asks
commit moves completes one
commit moves ends fails many
commit moves ends fails one
commit moves ends many
commit moves ends many job
commit moves ends one
commit moves ends one job
commit moves ends one outbox
commit moves fails many
commit moves many
commit moves many asks
commit moves one
insert begun job
insert begun job calls
insert job
insert job presumes
insert many job
insert many job calls
insert outbox
insert settles begun asks
insert settles begun asks job
insert settles begun asks presumes
insert settles many
insert settles many asks
insert settles many presumes
insert settles many recalls
insert settles many recalls presumes
insert settles one
insert settles one recalls`
  .trim()
  .split('\n')

/** The statement of a shape. The order of the fields is the key under which the product keeps it. */
export function statementOf(shape: string) {
  const [kind, ...words] = shape.split(' ')
  const has = (word: string) => words.includes(word)
  const one = <Word extends string>(...of: Word[]) => of.find(has)
  const following = {
    records: one('begun', 'one', 'many') ?? ('none' as const),
    asks: has('asks'),
    sends: one('job', 'outbox') ?? null,
    calls: has('calls'),
    recalls: has('recalls'),
    presumes: has('presumes'),
  }
  if (kind === 'insert') return insertStatement({ settles: has('settles'), ...following })
  return commitStatement({
    moves: has('moves'),
    completes: has('completes'),
    answers: has('answers'),
    ends: has('ends'),
    fails: has('fails'),
    ...following,
  })
}
