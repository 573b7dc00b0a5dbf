'use client'
import { Button } from '@mantine/core'
import { PageHeader } from '@/app/_ui/page-header'
import { ReasonButton } from '@/app/_ui/reason-button'
import { StatusPill } from '@/app/_ui/status-pill'
import { useSaveKey } from '@/app/_ui/use-save-key'
import { useTenant } from '../tenant-context'
import type { DraftState } from './draft-state'
import { type Resource, versionsText } from './resource-list'
import { SaveStateText } from './save-state'

/** The header of an agent's or tool's page: the published version and the draft's save state. */
export function VersionedHeader(props: {
  noun: 'agent' | 'tool'
  resource: Resource
  name: string
  state: DraftState<object>
  hasDraft: boolean
  /** Why a text on the page is not part of the draft yet. */
  problem: string | null
  /** Why it cannot be published now; null if it can. */
  obstacle: string | null
  onSave: () => void
  onDiscard: () => void
  onPublish: () => void
  mayWrite: boolean
  mayPublish: boolean
}) {
  const { noun, resource, name, state, problem, obstacle, onSave, onDiscard, onPublish, mayWrite, mayPublish } = props
  const { path } = useTenant()
  const { status, version, publishedVersion } = resource
  const versions = versionsText(resource)
  const editable = mayWrite && status !== 'archived'
  const hasDraft = props.hasDraft || problem !== null
  const live = status === 'published' && publishedVersion === version && !hasDraft
  useSaveKey(() => editable && onSave())
  return (
    <PageHeader
      title={name}
      back={{ href: path(`/${noun}s`), label: noun === 'agent' ? 'Agents' : 'Tools' }}
      meta={
        <>
          <StatusPill status={status} />
          {versions && <span>{versions}</span>}
          <SaveStateText state={state} problem={problem} onRetry={onSave} />
        </>
      }
      actions={
        <>
          {editable && hasDraft && state.save.kind !== 'conflict' && (
            <Button variant="subtle" color="gray" onClick={onDiscard}>
              Discard draft
            </Button>
          )}
          {editable && mayPublish && !live && (
            <ReasonButton reason={obstacle} onClick={onPublish}>
              Publish
            </ReasonButton>
          )}
        </>
      }
    />
  )
}
