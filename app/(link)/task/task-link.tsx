'use client'
import { Button, Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useCallback, useEffect, useState } from 'react'
import { WhatToDo } from '@/app/_ui/error-code'
import { inPlace, loadPart } from '@/app/_ui/part'
import { call, type FormProblem, problemOf } from '@/app/(auth)/api'
import type { TaskLinkView } from '@/server/links/view'
import { Closed } from './closed'
import styles from './task.module.css'
import { useToken } from './use-token'

const OpenTask = dynamic(() => loadPart(() => import('./open-task').then((module) => module.OpenTask)), {
  loading: inPlace(<Waiting />),
})
const Receipt = dynamic(() => loadPart(() => import('./receipt').then((module) => module.Receipt)), {
  loading: inPlace(<Waiting />),
})

/** A task, the receipt of its answer, or the reason why it is closed. */
export function TaskLink() {
  const token = useToken()
  const [view, setView] = useState<TaskLinkView | null>(null)
  const [problem, setProblem] = useState<FormProblem | null>(null)
  const load = useCallback(() => {
    if (token === null) return
    setProblem(null)
    setView(null)
    if (token === '') return setView({ state: 'unknown' })
    call('taskLink', { token }).then(setView, (error: unknown) => setProblem(problemOf(error)))
  }, [token])
  useEffect(load, [load])
  return (
    <article className={styles.card} aria-busy={view === null && problem === null}>
      {problem !== null ? (
        <>
          <h1 className={styles.title}>The task could not be loaded</h1>
          <p className={styles.lead}>
            {problem.text} {problem.code !== null && <WhatToDo code={problem.code} />}
          </p>
          <Button mt="md" onClick={load}>
            Try again
          </Button>
        </>
      ) : view === null || token === null ? (
        <Waiting />
      ) : view.state === 'open' ? (
        <OpenTask token={token} view={view} onAnswered={setView} />
      ) : view.state === 'used' ? (
        <Receipt view={view} />
      ) : (
        <Closed view={view} />
      )}
    </article>
  )
}

function Waiting() {
  return (
    <>
      <Skeleton height={14} width="40%" />
      <Skeleton height={28} width="75%" mt="sm" />
      <Skeleton height={160} mt="lg" />
    </>
  )
}
