import type { JsonObject } from '../definition/json'

/** Who made everything in the examples, and when. */
export const KEY_ID = 'key_01KAHV5Y7Q0000N2R8D6W1S3FB'
export const T0 = '2026-11-20T09:30:00.000Z'

/** An element of a list of agents, tools or workflows. */
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

/** The state of one of them. */
export const stateExample = {
  publishedAt: T0,
  archivedAt: null,
  hasUnpublishedChanges: false,
  createdBy: KEY_ID,
  updatedBy: KEY_ID,
} satisfies JsonObject

/** An element of a list of versions. */
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
