import type { JsonObject } from '../definition/json'

/** The creator and the time of everything in the examples. */
export const KEY_ID = 'key_01KAHV5Y7Q0000N2R8D6W1S3FB'
export const T0 = '2026-11-20T09:30:00.000Z'

/** A list entry of agents, tools or workflows. */
export const itemExample = (id: string, { name, description }: { name: string; description: string }) =>
  ({
    id,
    name,
    description,
    status: 'published',
    createdAt: T0,
    updatedAt: T0,
    version: 2,
    publishedVersion: 2,
  }) satisfies JsonObject

/** The state fields of an example. */
export const stateExample = {
  publishedAt: T0,
  archivedAt: null,
  hasUnpublishedChanges: false,
  createdBy: KEY_ID,
  updatedBy: KEY_ID,
} satisfies JsonObject

/** An entry in a list of versions. */
export const versionExample = (id: string, { name }: { name: string }) =>
  ({
    id,
    version: 2,
    name,
    createdAt: T0,
    createdBy: KEY_ID,
    publishedAt: T0,
    current: true,
    published: true,
  }) satisfies JsonObject
