'use client'
import { Group, NativeSelect, NumberInput, Switch } from '@mantine/core'
import type { ApprovalPolicy } from '@/server/definition/approval'
import { AssigneesWidget } from '../../workflows/[id]/widgets/people-widgets'
import { TimeInput } from './time-input'

interface Fields {
  policy: ApprovalPolicy
  set: (patch: Partial<ApprovalPolicy>) => void
  problem: (field: string) => string | null
  readOnly: boolean
}

/** Who is asked, how many of them must agree, and how long they have. */
export function ApprovalPeople(props: Fields) {
  const { policy, set, problem, readOnly } = props
  const time = (of: 'dueIn' | 'expiresIn') => ({
    id: `approval-${of}`,
    value: policy[of],
    onChange: (next: string | undefined) => set({ [of]: next }),
    problem: problem(of),
    readOnly,
  })
  return (
    <>
      <AssigneesWidget
        field={{
          name: 'assignees',
          widget: 'assignees',
          label: 'Who may answer',
          placeholder: 'Name, email, group or role',
          help: 'Without any, everybody who may answer tasks.',
          required: false,
        }}
        schema={{}}
        value={policy.assignees}
        onChange={(assignees) => set({ assignees: assignees as ApprovalPolicy['assignees'] })}
        onRenameField={() => {}}
        problem={problem('assignees')}
        problems={[]}
        readOnly={readOnly}
        siblings={{}}
      />
      <Votes {...props} />
      <TimeInput {...time('dueIn')} label="Due in" help="The inbox shows the date; nothing happens then." />
      <TimeInput {...time('expiresIn')} label="Time to decide" help="Without it, the call waits as long as it takes." />
      {policy.expiresIn !== undefined && (
        <NativeSelect
          label="When the time is up"
          data={[
            { value: 'reject', label: 'Reject the call, and tell the model' },
            { value: 'fail', label: 'Fail the step' },
          ]}
          value={policy.onExpiry ?? 'reject'}
          disabled={readOnly}
          onChange={(event) => set({ onExpiry: event.currentTarget.value === 'fail' ? 'fail' : undefined })}
        />
      )}
    </>
  )
}

function Votes({ policy, set, problem, readOnly }: Fields) {
  const { needs: votes = {} } = policy
  return (
    <>
      <Group grow align="start">
        {(['approve', 'reject'] as const).map((action) => (
          <NumberInput
            key={action}
            label={action === 'approve' ? 'Votes to approve' : 'Votes to reject'}
            description="Each person has one vote"
            placeholder="1"
            min={1}
            max={100}
            allowDecimal={false}
            value={votes[action] ?? ''}
            onChange={(count) => set({ needs: withVotes(votes, action, count) })}
            error={action === 'approve' ? problem('needs') : null}
            readOnly={readOnly}
          />
        ))}
      </Group>
      <Switch
        label="Not by the person who started the run"
        checked={policy.noSelfApproval === true}
        disabled={readOnly}
        onChange={(event) => set({ noSelfApproval: event.currentTarget.checked || undefined })}
      />
    </>
  )
}

function withVotes(votes: Record<string, number>, action: string, count: number | string) {
  const { [action]: _old, ...others } = votes
  const next = typeof count === 'number' ? { ...others, [action]: count } : others
  return Object.keys(next).length === 0 ? undefined : next
}
