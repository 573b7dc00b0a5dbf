'use client'
import { Button, MultiSelect, NativeSelect, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import type { Approval, ApprovalPolicy } from '@/server/definition/approval'
import { errorAt } from '../../_versioned/field-errors'
import { flushFields } from '../../workflows/[id]/draft/use-committed'
import { ExpressionInput } from '../../workflows/[id]/widgets/expression-input'
import { expressionProblem } from '../../workflows/[id]/widgets/expression-widget'
import { LazyRuleField } from '../../workflows/[id]/widgets/lazy-rule-field'
import { ScopeProvider } from '../../workflows/[id]/widgets/scope-context'
import { ApprovalPeople } from './approval-people'
import type { Needs, Use } from './use'
import { useCallScope } from './use-call-scope'

/** The policy of a tool or a hand-over: which calls need an approval, who is asked, and what they see. */
export function ApprovalDialog(props: {
  noun: 'tool' | 'agent'
  name: string
  use: Use
  needs: Needs
  onChange: (approval: Approval) => void
  onClose: () => void
  error: unknown
  at: string
  readOnly: boolean
}) {
  const { noun, name, use, onChange, onClose, error, at, readOnly } = props
  const [needs, setNeeds] = useState(props.needs === 'when' ? 'when' : 'always')
  const [policy, setPolicy] = useState<ApprovalPolicy>(typeof use.approval === 'object' ? use.approval : {})
  const [tried, setTried] = useState(false)
  const { names, entries } = useCallScope(noun, use)
  const set = (patch: Partial<ApprovalPolicy>) => setPolicy((now) => ({ ...now, ...patch }))
  const problem = (field: string) => errorAt(error, `${at}.${field}`)
  const { when = '', title = '', editable = [], show = [] } = policy
  const wrong = needs === 'when' ? whenProblem(when) : null
  function submit(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (wrong !== null) return
    onChange(approvalOf({ ...policy, when: needs === 'when' ? when : undefined }))
    onClose()
  }
  const fields = { set, problem, readOnly }
  return (
    <Dialog onClose={onClose} title={`Approval of “${name}”`} size="lg" closes="no click">
      <ScopeProvider entries={entries} open labelOf={(from) => from}>
        <form
          onSubmit={submit}
          // Enter submits from within a field, which may not have reported its latest text yet.
          onKeyDownCapture={(event) => event.key === 'Enter' && flushFields()}
          noValidate
        >
          <Stack>
            <Text size="sm" c="dimmed">
              {ASKS}
            </Text>
            <NativeSelect
              label="Needs approval"
              data={[
                { value: 'always', label: 'Always' },
                { value: 'when', label: 'When…' },
              ]}
              value={needs}
              disabled={readOnly}
              onChange={(event) => setNeeds(event.currentTarget.value)}
            />
            {needs === 'when' && (
              <LazyRuleField
                name="Condition"
                label="Condition"
                multiline
                code
                value={when}
                onChange={(text) => set({ when: text })}
                error={(tried ? wrong : when === '' ? null : wrong) ?? problem('when')}
                readOnly={readOnly}
              />
            )}
            <ExpressionInput
              name="Title"
              label="Title"
              description="The heading of the task"
              placeholder={`May the agent call ${name}?`}
              value={title}
              onChange={(text) => set({ title: text })}
              error={problem('title')}
              readOnly={readOnly}
            />
            <ApprovalPeople policy={policy} {...fields} />
            <MultiSelect
              label="Arguments to show"
              description="In this order; all of them by default"
              data={[...new Set([...names, ...show])]}
              value={show}
              onChange={(chosen) => set({ show: chosen })}
              error={problem('show')}
              readOnly={readOnly}
            />
            {(policy.needs === undefined || editable.length > 0) && (
              <MultiSelect
                label="Arguments that people may change"
                description="Before they approve the call. Not where several votes are needed"
                data={[...new Set([...names, ...editable])]}
                value={editable}
                onChange={(chosen) => set({ editable: chosen })}
                error={problem('editable')}
                readOnly={readOnly}
              />
            )}
            <DialogButtons>
              <Button variant="default" onClick={onClose}>
                {readOnly ? 'Close' : 'Cancel'}
              </Button>
              {!readOnly && <Button type="submit">Save</Button>}
            </DialogButtons>
          </Stack>
        </form>
      </ScopeProvider>
    </Dialog>
  )
}

const ASKS =
  'People are asked in runs, chats and invocations. A draft asks, too, and so does an agent that a supervisor hands a message to. In tests and comparisons nobody can be asked: the call is not made, and the agent is told so.'

function whenProblem(when: string): string | null {
  return when.trim() === '' ? 'Say when a call needs an approval.' : expressionProblem(when)
}

/** Without what was left empty. */
function approvalOf(policy: ApprovalPolicy): Approval {
  const given = Object.entries(policy).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return given.length === 0 ? 'always' : Object.fromEntries(given)
}
