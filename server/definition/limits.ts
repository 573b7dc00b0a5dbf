/** The maximum sizes of a run's values, in bytes of JSON. Update "Sizes" in `docs/api.md` with them. */

const KIB = 1024
const MIB = 1024 * KIB

/** A step's configuration with its `${…}` resolved. */
export const MAX_CONFIG_BYTES = 2 * MIB
/** The question of a step that waits for a person, with its shown values. Task lists read it for every waiting run. */
export const MAX_QUESTION_BYTES = 256 * KIB
/** The data of an event. */
export const MAX_EVENT_BYTES = 256 * KIB
/** The output of one step. */
export const MAX_OUTPUT_BYTES = 4 * MIB
/** A run's data, and so also its result. */
export const MAX_DATA_BYTES = 8 * MIB
/** All outputs of earlier steps that one configuration refers to by step id. */
export const MAX_NAMED_OUTPUT_BYTES = 16 * MIB
/** The message of a failed step, in characters. */
export const MAX_ERROR_CHARS = 10_000

/** A size as errors show it to people. */
export function readableSize(bytes: number): string {
  return bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`
}
