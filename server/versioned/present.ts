import type { VersionedRow } from './columns'

/** A list entry. */
export function presentItem(row: VersionedRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
    publishedVersion: row.publishedVersion,
  }
}

/** The state fields that follow the content in every answer with the whole content. */
export function presentState(row: VersionedRow) {
  return {
    publishedAt: row.publishedAt?.toISOString() ?? null,
    archivedAt: row.archivedAt?.toISOString() ?? null,
    hasUnpublishedChanges: row.publishedVersion !== row.version,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
  }
}

interface Version {
  version: number
  name: string
  createdAt: Date
  createdBy: string
  publishedAt: Date | null
}

/** An entry in a list of versions. */
export function presentVersionItem(version: Version, row: VersionedRow) {
  return {
    id: row.id,
    version: version.version,
    name: version.name,
    createdAt: version.createdAt.toISOString(),
    createdBy: version.createdBy,
    publishedAt: version.publishedAt?.toISOString() ?? null,
    current: version.version === row.version,
    published: version.version === row.publishedVersion,
  }
}
