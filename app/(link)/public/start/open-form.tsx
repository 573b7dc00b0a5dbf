'use client'
import { Button, Stack } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { type Uploads, UploadsProvider } from '@/app/_ui/files/uploads'
import { Locked } from '@/app/_ui/locked'
import { Clock } from '@/app/_ui/time'
import { useOnce } from '@/app/_ui/use-once'
import { call, NO_PROBLEM, problemOf } from '@/app/(auth)/api'
import { Problem } from '@/app/(auth)/problem'
import { StartForm } from '@/app/(dashboard)/[tenant]/workflows/start-form'
import { type Entry, firstTyped, readTyped } from '@/app/(dashboard)/[tenant]/workflows/start-values'
import { useFileSender } from '@/app/(dashboard)/[tenant]/workflows/use-file-sender'
import { START_LINK_HEADER } from '@/lib/link-headers'
import type { Fields } from '@/server/definition/schema'
import type { StartLinkView } from '@/server/links/start/view'
import { asText } from '../../as-text'
import styles from '../../link.module.css'

interface Props {
  token: string
  view: Extract<StartLinkView, { state: 'open' }>
  onSent: (view: StartLinkView) => void
}

/** The workflow's title, description and form. */
export function OpenForm(props: Props) {
  const { token, view } = props
  const uploads = useMemo<Uploads>(
    () => ({
      limit: view.uploadLimit,
      begin: (body) => call('beginUpload', { token, body }),
      complete: (fileId) => call('completeUpload', { token, fileId }),
      cancel: (fileId) => call('cancelUpload', { token, fileId }),
    }),
    [token, view.uploadLimit],
  )
  return (
    <UploadsProvider uploads={uploads}>
      <Form {...props} />
    </UploadsProvider>
  )
}

function Form(props: Props) {
  const { title, description, fields, expiresAt } = props.view
  const { typed, change, submit, busy, problem, progress } = useForm(props)
  return (
    <>
      <header>
        <h1 className={styles.title}>{title}</h1>
        {description && <p className={styles.about}>{description}</p>}
      </header>
      <form noValidate method="post" onSubmit={submit}>
        <Stack gap="md">
          {Object.keys(fields).length > 0 && (
            <Locked locked={busy}>
              <StartForm fields={fields} typed={typed} errors={problem.fields} onChange={change} types={false} />
            </Locked>
          )}
          <SendingFile {...progress} />
          <Problem problem={problem} />
          <Button type="submit" size="md" loading={busy}>
            Send
          </Button>
        </Stack>
      </form>
      <footer className={styles.notes}>
        <p>
          The form is open until <Clock at={expiresAt} />.
        </p>
      </footer>
    </>
  )
}

function useForm({ token, view: { fields }, onSent }: Props) {
  const [typed, setTyped] = useState(() => firstTyped(fields))
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  // However often it is sent, it counts once. `crypto.randomUUID` needs https.
  const [formId] = useState(() => window.crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const once = useOnce()
  const { sender, limit, progress } = useFileSender(typed)
  async function send() {
    const { data, errors, files } = readTyped(fields, typed, limit)
    setProblem({ ...NO_PROBLEM, fields: errors })
    if (Object.keys(errors).length > 0) return false
    setBusy(true)
    try {
      const headers = { [START_LINK_HEADER]: token }
      const view = await sender.sendWith(fields, files, (parts) =>
        call('startByLink', { token, formId, data, ...parts }, { headers }),
      )
      if (view) onSent(view as unknown as StartLinkView)
      return view !== null
    } catch (error) {
      setProblem(shownIn(fields, error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return {
    typed,
    change: (name: string, value: Entry) => setTyped((now) => ({ ...now, [name]: value })),
    submit: (event: FormEvent) => {
      event.preventDefault()
      void once(send)
    },
    busy,
    problem,
    progress,
  }
}

/** A problem inside a value has no input of its own. */
function shownIn(fields: Fields, error: unknown) {
  const problem = problemOf(error)
  return Object.keys(problem.fields).some((name) => name in fields) ? problem : asText(problem)
}
