'use client'
import { NativeSelect } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { TextButton } from '@/app/_ui/text-button'
import type { Approval } from '@/server/definition/approval'
import { type Needs, needsOf, type Use } from './use'
import own from './uses.module.css'

const ApprovalDialog = dynamic(
  () => loadDialog(() => import('./approval-dialog').then((module) => module.ApprovalDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** Whether calls of a tool, or hand-overs to an agent, need an approval. */
export function ApprovalChoice(props: {
  noun: 'tool' | 'agent'
  name: string
  use: Use
  onChange: (approval: Approval | undefined) => void
  error: unknown
  /** The place of the approval in the agent's configuration. */
  at: string
  readOnly: boolean
}) {
  const { name, use, onChange, readOnly } = props
  const { approval } = use
  const [open, setOpen] = useState<Needs | null>(null)
  const needs = needsOf(approval)
  const votes = typeof approval === 'object' ? (approval.needs?.approve ?? 1) : 1
  function choose(next: Needs) {
    if (next === 'never') onChange(undefined)
    else if (next === 'when') setOpen('when')
    else if (approval === undefined || approval === 'always') onChange('always')
    else {
      const { when: _when, ...rest } = approval
      onChange(Object.keys(rest).length === 0 ? 'always' : rest)
    }
  }
  return (
    <div className={own.approval}>
      <span aria-hidden>Needs approval</span>
      <NativeSelect
        size="xs"
        aria-label={`Needs approval: ${name}`}
        data={[
          { value: 'never', label: 'Never' },
          { value: 'always', label: 'Always' },
          { value: 'when', label: 'When…' },
        ]}
        value={needs}
        disabled={readOnly}
        onChange={(event) => choose(event.currentTarget.value as Needs)}
      />
      {typeof approval === 'object' && approval.when !== undefined && <code>{approval.when}</code>}
      {votes > 1 && <span>{votes} votes</span>}
      {needs !== 'never' && (
        <TextButton label={`${readOnly ? 'Show' : 'Edit'} the approval: ${name}`} onClick={() => setOpen(needs)}>
          {readOnly ? 'Show' : 'Edit'}
        </TextButton>
      )}
      {open && <ApprovalDialog {...props} needs={open} onClose={() => setOpen(null)} />}
    </div>
  )
}
