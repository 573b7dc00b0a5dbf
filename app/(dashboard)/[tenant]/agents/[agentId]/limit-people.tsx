import type { LimitAsk } from '@/server/definition/agent'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import { AssigneePicker } from '../../workflows/[id]/widgets/assignee-picker'
import { ScopeProvider } from '../../workflows/[id]/widgets/scope-context'
import { TimeInput } from './time-input'

/** Who is asked at a limit, and how long they have. */
export function LimitPeople(props: {
  at: LimitAsk
  onChange: (at: LimitAsk) => void
  error: unknown
  readOnly: boolean
}) {
  const { at, onChange, error, readOnly } = props
  const time = (of: 'dueIn' | 'expiresIn') => ({
    id: `limit-${of}`,
    value: at[of],
    onChange: (next: string | undefined) => onChange({ ...at, [of]: next }),
    problem: errorAt(error, `limits.at.${of}`),
    readOnly,
  })
  return (
    <ScopeProvider entries={NONE} open={false} labelOf={itself}>
      <AssigneePicker
        field={{
          name: 'limit-people',
          widget: 'assignees',
          label: 'Who may answer',
          placeholder: 'Name, email, group or role',
          required: true,
        }}
        schema={{}}
        value={at.ask}
        values={at.ask}
        onValues={(ask) => onChange({ ...at, ask })}
        onChange={() => {}}
        onRenameField={() => {}}
        problem={errorAt(error, 'limits.at.ask')}
        problems={[]}
        readOnly={readOnly}
        siblings={{}}
      />
      <div className={styles.pair}>
        <TimeInput {...time('dueIn')} label="Due in" help="The inbox shows the date; nothing happens then." />
        <TimeInput {...time('expiresIn')} label="Time to decide" help="After it, the message fails." />
      </div>
    </ScopeProvider>
  )
}

const NONE: never[] = []
const itself = (name: string) => name
