'use client'
import { Button, Skeleton } from '@mantine/core'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { WhatToDo } from '@/app/_ui/error-code'
import { useSecondClick } from '@/app/_ui/use-second-click'
import { type FormProblem, problemOf } from '@/app/(auth)/api'
import styles from './link.module.css'
import { useToken } from './use-token'

/** What the page shows with, besides the view itself. */
export interface Shown<V> {
  token: string
  /** Shows another view, such as the one after an answer. */
  show: (view: V) => void
  /** Reads the view again. */
  reload: () => void
}

/**
 * The page of a link: it reads the view of the token behind the `#`.
 * @param props.load the same function each time
 * @param props.unknown the view without a token
 * @param props.failed the title if the view cannot be read
 */
export function LinkPage<V>({
  load,
  unknown,
  failed,
  children,
}: {
  load: (token: string) => Promise<V>
  unknown: V
  failed: string
  children: (view: V, shown: Shown<V>) => ReactNode
}) {
  const token = useToken()
  useSecondClick()
  const [view, setView] = useState<V | null>(null)
  const [problem, setProblem] = useState<FormProblem | null>(null)
  const reload = useCallback(() => {
    if (token === null) return
    setProblem(null)
    setView(null)
    if (token === '') return setView(unknown)
    load(token).then(setView, (error: unknown) => setProblem(problemOf(error)))
  }, [token, load, unknown])
  useEffect(reload, [reload])
  return (
    <article className={styles.card} aria-busy={view === null && problem === null}>
      {problem !== null ? (
        <>
          <h1 className={styles.title}>{failed}</h1>
          <p className={styles.lead}>
            {problem.text} {problem.code !== null && <WhatToDo code={problem.code} />}
          </p>
          <Button mt="md" onClick={reload}>
            Try again
          </Button>
        </>
      ) : view === null || token === null ? (
        <Waiting />
      ) : (
        children(view, { token, show: setView, reload })
      )}
    </article>
  )
}

export function Waiting() {
  return (
    <>
      <Skeleton height={14} width="40%" />
      <Skeleton height={28} width="75%" mt="sm" />
      <Skeleton height={160} mt="lg" />
    </>
  )
}
