'use client'
import { Button, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Markdown } from '@/app/_ui/markdown'
import { Clock } from '@/app/_ui/time'
import { call, type FormProblem, NO_PROBLEM, problemOf } from '@/app/(auth)/api'
import { Problem } from '@/app/(auth)/problem'
import { type Fields, initialDraft, readDraft } from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'
import { FieldInput } from '@/app/(dashboard)/[tenant]/inbox/answer/field-input'
import { ShownCard } from '@/app/(dashboard)/[tenant]/inbox/answer/shown-card'
import { Due } from '@/app/(dashboard)/[tenant]/inbox/answer/task-people'
import type { AnswerTaskLink } from '@/server/links/schema'
import type { TaskLinkView } from '@/server/links/view'
import { LinkFiles } from './link-files'
import styles from './task.module.css'

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
        <InputsForm fields={asked.fields as unknown as Fields} send={send} />
      ) : (
        <Actions actions={asked.actions} send={send} />
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

function InputsForm({ fields, send }: { fields: Fields; send: Send }) {
  const [draft, setDraft] = useState(() => initialDraft(fields))
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const { data, errors } = readDraft(fields, draft)
    if (Object.keys(errors).length > 0) return setProblem({ ...NO_PROBLEM, fields: errors })
    setBusy(true)
    const refused = await send({ data })
    if (!refused) return
    setBusy(false)
    // A problem inside a value has no input of its own.
    const shown = Object.keys(refused.fields).some((name) => name in fields)
    setProblem(shown ? refused : asText(refused))
  }
  return (
    <form noValidate method="post" onSubmit={submit}>
      <Stack gap="md">
        {Object.entries(fields).map(([name, field]) => (
          <FieldInput
            key={name}
            name={name}
            field={field}
            text={draft[name] ?? ''}
            error={problem.fields[name]}
            disabled={busy}
            onChange={(text) => {
              setDraft((now) => ({ ...now, [name]: text }))
              setProblem(({ fields: { [name]: _gone, ...others }, ...rest }) => ({ ...rest, fields: others }))
            }}
          />
        ))}
        <Problem problem={problem} />
        <Button type="submit" size="md" loading={busy}>
          Submit
        </Button>
      </Stack>
    </form>
  )
}

/** Moves errors of fields that are not on the screen to the whole form. */
function asText({ text, fields, code }: FormProblem): FormProblem {
  return { fields: {}, text: text ?? Object.values(fields).join(' '), code }
}

function Actions({ actions, send }: { actions: { id: string; label: string }[]; send: Send }) {
  const [chosen, setChosen] = useState<string | null>(null)
  const [problem, setProblem] = useState(NO_PROBLEM)
  const choose = async (actionId: string) => {
    setChosen(actionId)
    setProblem(NO_PROBLEM)
    const refused = await send({ actionId })
    if (!refused) return
    setChosen(null)
    setProblem(asText(refused))
  }
  return (
    <Stack gap="sm">
      <Problem problem={problem} />
      {actions.map(({ id, label }, index) => (
        <Button
          key={id}
          size="md"
          fullWidth
          variant={index === 0 ? 'filled' : 'default'}
          loading={chosen === id}
          disabled={chosen !== null}
          styles={{ root: { height: 'auto', minHeight: 42 }, label: { whiteSpace: 'normal', paddingBlock: 6 } }}
          onClick={() => choose(id)}
        >
          {label}
        </Button>
      ))}
    </Stack>
  )
}
