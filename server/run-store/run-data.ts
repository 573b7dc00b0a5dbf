import { type JsonObject, jsonSize } from '../definition/json'
import type { DataRef, DataRefs, RunData } from '../definition/run'
import { env } from '../env'
import { olderLives } from '../outbox'

// Run data is stored as small fields, and references to large ones: a field of more than 4 KiB is stored in the record
// of the visit that wrote it, or in the run's input. So a step that adds little writes little, however large the data.

/** Data as a walk has it, and references to its fields that are stored elsewhere. */
export interface Written {
  data: JsonObject
  refs: DataRefs
}

/** The columns that store it. */
export function dataColumns({ data, refs }: Written): { smallData: RunData; dataRefs: DataRefs | null } {
  if (Object.keys(refs).length === 0) return { smallData: data, dataRefs: null }
  const small = Object.entries(data).filter(([name]) => !Object.hasOwn(refs, name))
  return { smallData: Object.fromEntries(small), dataRefs: refs }
}

/** The references after fields were written: by a visit, or as the input of a run. */
export function refsWith(refs: DataRefs, delta: JsonObject, source: Omit<DataRef, 'bytes'>): DataRefs {
  const next = { ...refs }
  const largest = env().MILLRACE_TEST_LARGE_BYTES
  for (const [name, value] of Object.entries(delta)) {
    const bytes = jsonSize(value)
    // A process of an older release would treat this part as all the data.
    if (bytes > largest && !olderLives()) next[name] = { ...source, bytes }
    else delete next[name]
  }
  return next
}

/** The size of data as JSON. Large fields have been measured already. */
export function dataSize({ data, refs }: Written): number {
  const { smallData } = dataColumns({ data, refs })
  return Object.entries(refs).reduce((sum, [name, { bytes }]) => sum + bytes + jsonSize(name) + 2, jsonSize(smallData))
}
