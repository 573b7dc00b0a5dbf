/** How large the values of a run may grow, in bytes of JSON. `docs/api.md` says the same under "Sizes". */

const KIB = 1024
const MIB = 1024 * KIB

/** A step's configuration with its `${…}` filled in. */
export const MAX_CONFIG_BYTES = 2 * MIB
/** What a step that waits for a person shows and asks. Lists of tasks read it for every run that waits. */
export const MAX_QUESTION_BYTES = 256 * KIB
/** What one step gives. */
export const MAX_OUTPUT_BYTES = 4 * MIB
/** A run's data, and with it a run's result. */
export const MAX_DATA_BYTES = 8 * MIB
/** The outputs of earlier steps that one configuration names by their ids, read together. */
export const MAX_NAMED_OUTPUT_BYTES = 16 * MIB
/** The message of a failed step, in characters. */
export const MAX_ERROR_CHARS = 10_000

/** Sizes are named in errors as people read them. */
export function readableSize(bytes: number): string {
  return bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`
}
