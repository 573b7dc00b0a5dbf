'use client'
import { Button, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Locked } from '@/app/_ui/locked'
import { Markdown } from '@/app/_ui/markdown'
import { Clock } from '@/app/_ui/time'
import { useFirstFocus } from '@/app/_ui/use-first-focus'
import { call, type FormProblem, NO_PROBLEM, problemOf } from '@/app/(auth)/api'
import { Problem } from '@/app/(auth)/problem'
import { type Fields, initialDraft, readDraft } from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'
import { FieldInput } from '@/app/(dashboard)/[tenant]/inbox/answer/field-input'
import { ShownCard } from '@/app/(dashboard)/[tenant]/inbox/answer/shown-card'
import { Due } from '@/app/(dashboard)/[tenant]/inbox/answer/task-people'
import type { JsonObject } from '@/server/definition/json'
import type { AsksRemark } from '@/server/definition/run'
import type { AnswerTaskLink } from '@/server/links/schema'
import type { TaskLinkView } from '@/server/links/view'
import { asText } from '../as-text'
import styles from '../link.module.css'
import { LinkFiles } from './link-files'

type OpenView = Extract<TaskLinkView, { state: 'open' }>
type Send = (answer: Omit<AnswerTaskLink, 'token'>) => Promise<FormProblem | null>

interface Props {
  token: string
  view: OpenView
  onAnswered: (view: TaskLinkView) => void
}

/** The question with its form or buttons. */
export function OpenTask({ token, view, onAnswered }: Props) {
  const { workspace, from, title, asked, leftOut, votes, expiresAt } = view
  const send: Send = async (answer) => {
    try {
      onAnswered(await call('answerTaskLink', { token, ...answer }))
      return null
    } catch (error) {
      return problemOf(error)
    }
  }
  return (
    <>
      <header>
        <p className={styles.from}>{from === null ? workspace : `${from} · ${workspace}`}</p>
        <h1 className={styles.title}>{title}</h1>
        {asked.dueAt && (
          <p className={styles.facts}>
            <Due at={asked.dueAt} />
          </p>
        )}
      </header>
      <LinkFiles token={token} files={view.files}>
        {asked.message && <Markdown text={asked.message} under={1} beside={asked.show} />}
        {asked.show && (
          <div className={styles.shown}>
            <ShownCard show={asked.show} />
          </div>
        )}
      </LinkFiles>
      {asked.type === 'collect_inputs' ? (
        <InputsForm fields={asked.fields as unknown as Fields} send={(data) => send({ data })} />
      ) : (
        <Actions asked={asked} send={send} />
      )}
      <footer className={styles.notes}>
        {leftOut.length > 0 && <p>Files cannot be sent through this link: {leftOut.join(', ')}.</p>}
        {votes && <p>Several people decide this together. You have one vote, and it is final.</p>}
        <p>
          The link works once, until <Clock at={expiresAt} />.
        </p>
      </footer>
    </>
  )
}

function InputsForm({
  fields,
  send,
  submit: action = 'Submit',
  remark,
  onBack,
}: {
  fields: Fields
  send: (data: JsonObject, remark?: string) => Promise<FormProblem | null>
  submit?: string
  /** Whether it asks for a remark too. */
  remark?: AsksRemark | undefined
  onBack?: () => void
}) {
  const form = useFirstFocus(onBack !== undefined)
  const [said, setSaid] = useState('')
  const [draft, setDraft] = useState(() => initialDraft(fields))
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const { data, errors } = readDraft(fields, draft)
    if (remark === 'required' && said.trim() === '') errors.remark = 'Required'
    if (Object.keys(errors).length > 0) return setProblem({ ...NO_PROBLEM, fields: errors })
    setBusy(true)
    const refused = await send(data, said)
    if (!refused) return
    setBusy(false)
    // A problem inside a value has no input of its own.
    const shown = Object.keys(refused.fields).some((name) => name in fields || (remark && name === 'remark'))
    setProblem(shown ? refused : asText(refused))
  }
  return (
    <form ref={form} noValidate method="post" onSubmit={submit}>
      <Stack gap="md">
        <Locked locked={busy}>
          {Object.entries(fields).map(([name, field]) => (
            <FieldInput
              key={name}
              name={name}
              field={field}
              text={draft[name] ?? ''}
              error={problem.fields[name]}
              onChange={(text) => {
                setDraft((now) => ({ ...now, [name]: text }))
                setProblem(({ fields: { [name]: _gone, ...others }, ...rest }) => ({ ...rest, fields: others }))
              }}
            />
          ))}
          {remark && (
            <FieldInput
              name="Remark"
              field={{ type: 'string', required: remark === 'required' }}
              text={said}
              error={problem.fields.remark}
              onChange={(text) => {
                setSaid(text)
                setProblem(({ fields: { remark: _gone, ...others }, ...rest }) => ({ ...rest, fields: others }))
              }}
            />
          )}
        </Locked>
        <Problem problem={problem} />
        <Button type="submit" size="md" loading={busy}>
          {action}
        </Button>
        {onBack && (
          <Button variant="subtle" color="gray" disabled={busy} onClick={onBack}>
            Choose something else
          </Button>
        )}
      </Stack>
    </form>
  )
}

type Decision = Extract<OpenView['asked'], { type: 'request_user_action' }>

/** The actions. One that asks for more than the choice opens its form in place of the others. */
function Actions({ asked, send }: { asked: Decision; send: Send }) {
  const { actions, remark } = asked
  const [chosen, setChosen] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)
  const [problem, setProblem] = useState(NO_PROBLEM)
  const choose = async (actionId: string) => {
    setChosen(actionId)
    setProblem(NO_PROBLEM)
    const refused = await send({ actionId })
    if (!refused) return
    setChosen(null)
    setProblem(asText(refused))
  }
  const open = actions.find(({ id }) => id === opened)
  if (open) {
    const fields = (open.fields ?? {}) as unknown as Fields
    return (
      <section aria-label={open.label}>
        <InputsForm
          fields={fields}
          remark={remark}
          submit={open.label}
          send={(data, said) => send({ actionId: open.id, data, ...(said ? { remark: said } : {}) })}
          onBack={() => setOpened(null)}
        />
      </section>
    )
  }
  return (
    <Stack gap="sm">
      <Problem problem={problem} />
      {actions.map(({ id, label, fields }, index) => (
        <Button
          key={id}
          size="md"
          fullWidth
          variant={index === 0 ? 'filled' : 'default'}
          loading={chosen === id}
          disabled={chosen !== null}
          styles={{ root: { height: 'auto', minHeight: 42 }, label: { whiteSpace: 'normal', paddingBlock: 6 } }}
          onClick={() => (fields || remark ? setOpened(id) : choose(id))}
        >
          {label}
        </Button>
      ))}
    </Stack>
  )
}
