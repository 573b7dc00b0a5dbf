import { declaredFields } from '../definition/declared'
import { isFileField } from '../definition/file-fields'
import { fileReferencesIn } from '../definition/file-ids'
import { own } from '../definition/json'
import { pinnedDefinition } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { describeForOthers, type FileInfo } from '../vault/describe-files'
import { valuesOfRun } from '../vault/run-values'
import type { FoundLink } from './find'

/**
 * The files that a page for people without an account shows: those that the author's texts name, if the run has them.
 * The caller who started the run may have put any text into it, so a mere text makes no file of another run
 * readable.
 */
export async function shownFiles({ ctx, run: { id: runId } }: FoundLink, shown: object): Promise<FileInfo[]> {
  const named = fileReferencesIn(JSON.stringify(shown))
  if (named.length === 0) return []
  const { workflowId, workflowVersion } = await getRunRow(ctx, runId)
  const { payload, steps } = await pinnedDefinition(ctx, workflowId, workflowVersion)
  // The fields of a decision are not in run data under their own names.
  const forms = steps.filter(({ type }) => type === 'collect-inputs')
  const declared = Object.entries(declaredFields({ payload, steps: forms }))
  const holders = declared.filter(([, field]) => isFileField(field)).map(([name]) => name)
  const stored = await valuesOfRun(ctx, runId)
  const checked = stored.flatMap((values) => holders.map((name) => own(values, name)))
  return describeForOthers(ctx, named, {
    runId,
    checked: new Set(fileReferencesIn(JSON.stringify(checked).toLowerCase())),
  })
}
