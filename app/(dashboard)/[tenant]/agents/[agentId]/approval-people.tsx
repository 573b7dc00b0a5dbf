'use client'
import { NativeSelect, TextInput } from '@mantine/core'
import { IsoDurationInput } from '@/app/_ui/duration-input'
import { readIso } from '@/app/_ui/iso-duration'
import type { ApprovalPolicy } from '@/server/definition/approval'
import { AssigneesWidget } from '../../workflows/[id]/widgets/people-widgets'

interface Fields {
  policy: ApprovalPolicy
  set: (patch: Partial<ApprovalPolicy>) => void
  problem: (field: string) => string | null
  readOnly: boolean
}

/** Who is asked, and how long they have. */
export function ApprovalPeople(props: Fields) {
  const { policy, set, problem, readOnly } = props
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
      <Time {...props} of="dueIn" label="Due in" help="The inbox shows the date; nothing happens then." />
      <Time {...props} of="expiresIn" label="Time to decide" help="Without it, the call waits as long as it takes." />
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

function Time(props: Fields & { of: 'dueIn' | 'expiresIn'; label: string; help: string }) {
  const { policy, set, problem, readOnly, of, label, help } = props
  const value = policy[of]
  if (value !== undefined && readIso(value) === null) {
    return (
      <TextInput
        label={label}
        description={help}
        value={value}
        error={problem(of)}
        readOnly={readOnly}
        onChange={(event) => set({ [of]: event.currentTarget.value || undefined })}
      />
    )
  }
  return (
    <IsoDurationInput
      id={`approval-${of}`}
      label={label}
      help={help}
      value={value}
      onChange={(next) => set({ [of]: next })}
      problem={problem(of)}
      readOnly={readOnly}
    />
  )
}
