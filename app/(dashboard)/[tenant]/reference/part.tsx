'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Send } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type MouseEvent, useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { errorPage } from '@/app/_ui/error-code'
import { ErrorState } from '@/app/_ui/error-state'
import { inPlace, loadPart } from '@/app/_ui/part'
import { OperationPart } from '@/app/reference/operation'
import reference from '@/app/reference/reference.module.css'
import { takesBytes } from '@/app/reference/samples'
import { SchemaTree } from '@/app/reference/schema-tree'
import tones from '@/app/reference/tones.module.css'
import type { OpenApiDocument } from '@/server/openapi/types'
import type { Call } from './call'
import styles from './reference.module.css'

/** Loaded on first use: the fields for all kinds of values are large. */
const TryCall = dynamic(() => loadPart(() => import('./try-call').then((module) => module.TryCall)), {
  ssr: false,
  loading: inPlace(<Skeleton height={160} radius="md" />),
})

/** The calls of one entry, with the schemas that they name. */
export function Part({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const trpc = useTRPC()
  const part = useQuery({ ...trpc.reference.read.queryOptions({ id }), staleTime: 60_000 })
  const text = part.data?.document
  const document = useMemo(() => (text === undefined ? null : (JSON.parse(text) as OpenApiDocument)), [text])
  const calls = useMemo(() => (document ? callsOf(document) : []), [document])
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<ArrowLeft size={16} aria-hidden />}
        className={styles.back ?? ''}
        onClick={onClose}
      >
        All calls
      </Button>
      {part.error ? (
        <ErrorState error={part.error} onRetry={() => part.refetch()} />
      ) : !document ? (
        <Skeleton height={320} radius="md" />
      ) : (
        // biome-ignore lint/a11y/useKeyWithClickEvents: a link that is opened with a key is clicked as well
        // biome-ignore lint/a11y/noStaticElementInteractions: the links inside are what people act on
        <div className={`${tones.tones} ${reference.stacked}`} onClick={openSchema}>
          <h2 className={styles.partName}>{name}</h2>
          {calls.map((call) => (
            <OperationPart key={`${call.method} ${call.path}`} document={document} errorAt={errorPage} {...call}>
              {/* The form sends no file as a body. */}
              {takesBytes(call.operation) ? null : <Try document={document} call={call} />}
            </OperationPart>
          ))}
          <Schemas document={document} />
        </div>
      )}
    </>
  )
}

function callsOf({ paths }: OpenApiDocument): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

/** A link to a schema opens it. */
function openSchema({ target }: MouseEvent): void {
  const id =
    target instanceof Element ? target.closest('a[href^="#schema-"]')?.getAttribute('href')?.slice(1) : undefined
  const schema = id === undefined ? null : window.document.getElementById(id)
  if (schema instanceof HTMLDetailsElement) schema.open = true
}

function Try({ document, call }: { document: OpenApiDocument; call: Call }) {
  const [open, setOpen] = useState(false)
  if (open) return <TryCall document={document} call={call} onClose={() => setOpen(false)} />
  return (
    <Button variant="light" leftSection={<Send size={16} aria-hidden />} onClick={() => setOpen(true)}>
      Try it
    </Button>
  )
}

/** Each schema is rendered when it is opened: those of a whole definition are long. */
function Schemas({ document }: { document: OpenApiDocument }) {
  const schemas = Object.entries(document.components.schemas)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  if (schemas.length === 0) return null
  return (
    <section aria-labelledby="schemas-title">
      <h2 id="schemas-title" className={styles.schemasTitle}>
        Schemas
      </h2>
      {schemas.map(([name, schema]) => (
        <details
          key={name}
          id={`schema-${name}`}
          className={styles.schema}
          onToggle={(event) => {
            if (event.currentTarget.open) setOpened((now) => new Set(now).add(name))
          }}
        >
          <summary>
            <code>{name}</code>
          </summary>
          {opened.has(name) && <SchemaTree schema={schema} anchor={`schema-${name}`} />}
        </details>
      ))}
    </section>
  )
}
