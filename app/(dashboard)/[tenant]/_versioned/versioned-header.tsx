'use client'
import { Button } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { PageHeader } from '@/app/_ui/page-header'
import { ReasonButton } from '@/app/_ui/reason-button'
import { StatusPill } from '@/app/_ui/status-pill'
import { useTenant } from '../tenant-context'
import type { Resource } from './resource-list'

/** The header of an agent's or tool's page: what is published, what is only saved, and what is unsaved. */
export function VersionedHeader(props: {
  noun: 'agent' | 'tool'
  resource: Resource
  dirty: boolean
  /** Why it cannot be saved now; null when it can. */
  obstacle: string | null
  saving: boolean
  onSave: () => void
  onDiscard: () => void
  onPublish: () => void
  mayWrite: boolean
  mayPublish: boolean
}) {
  const { noun, resource, dirty, obstacle, saving, onSave, onDiscard, onPublish, mayWrite, mayPublish } = props
  const { path } = useTenant()
  const { status, version, publishedVersion } = resource
  const archived = status === 'archived'
  const publishable = !archived && !(status === 'published' && publishedVersion === version)
  const maySave = mayWrite && !archived && dirty && obstacle === null && !saving
  // Works even while a field or the code editor has the focus.
  useHotkeys([['mod+s', () => maySave && onSave()]], [], true)
  return (
    <PageHeader
      title={resource.name}
      back={{ href: path(`/${noun}s`), label: noun === 'agent' ? 'Agents' : 'Tools' }}
      meta={
        <>
          <StatusPill status={status} />
          <span>{liveText(resource)}</span>
          {dirty && <strong>Unsaved changes</strong>}
        </>
      }
      actions={
        <>
          {dirty && !archived && (
            <Button variant="subtle" color="gray" onClick={onDiscard}>
              Discard
            </Button>
          )}
          {mayWrite && !archived && dirty && (
            <ReasonButton reason={obstacle} onClick={onSave} loading={saving}>
              Save version {version + 1}
            </ReasonButton>
          )}
          {mayPublish && publishable && (
            <ReasonButton
              reason={dirty ? 'Save your changes first' : null}
              variant={dirty ? 'default' : 'filled'}
              onClick={onPublish}
            >
              Publish version {version}
            </ReasonButton>
          )}
        </>
      }
    />
  )
}

function liveText({ status, version, publishedVersion }: Resource): string {
  if (status === 'archived') return `Version ${version}`
  if (publishedVersion === null) return `Version ${version}, not published yet`
  if (publishedVersion === version) return `Version ${version}`
  return `Version ${publishedVersion} is published, version ${version} is not`
}
