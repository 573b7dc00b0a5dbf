import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { errorPage } from '@/app/_ui/error-code'
import { Inline, Prose } from '@/app/_ui/prose'
import { ERRORS, type ErrorCode } from '@/server/errors'
import { originOf } from '@/server/http/origin'
import type { OpenApiDocument } from '@/server/openapi/types'
import { openApiDocument } from '@/server/rest/openapi-document'
import { Navigation, operationsOf } from './navigation'
import { ExampleBody, OperationPart } from './operation'
import styles from './reference.module.css'
import { SchemaTree } from './schema-tree'
import tones from './tones.module.css'

export const metadata: Metadata = {
  title: 'API reference - Millrace',
  description: 'Every endpoint of the HTTP API.',
}

/**
 * The API reference: the OpenAPI document for people. It is the same for everyone, so the web process renders it once
 * (`server/http/cached-page.ts`).
 */
export default async function ReferencePage() {
  const document = openApiDocument(originOf(await headers()))
  return (
    <div className={`${styles.page} ${tones.tones}`}>
      <Navigation document={document} />
      <main id="reference" className={styles.main}>
        <Introduction document={document} />
        {document.tags.map(({ name, description }) => (
          <section key={name} id={`tag-${name}`} aria-labelledby={`tag-${name}-title`}>
            <h2 id={`tag-${name}-title`} className={styles.heading}>
              {name}
            </h2>
            <div className={styles.lead}>
              <Prose text={description} className={styles.prose} />
            </div>
            {operationsOf(document, name).map((it) => (
              <OperationPart key={it.operation.operationId} document={document} {...it} />
            ))}
          </section>
        ))}
        <Errors document={document} />
        <Schemas document={document} />
      </main>
    </div>
  )
}

function Introduction({ document }: { document: OpenApiDocument }) {
  const { info, servers, components } = document
  return (
    <header className={styles.introduction}>
      <h1 className={styles.name}>API reference</h1>
      <Prose text={info.description} className={styles.prose} />
      <p className={styles.prose}>
        The API is at <code>{servers[0]?.url}</code>. Its version is <code>{info.version}</code>. You can import{' '}
        <a href="/api/openapi.json">/api/openapi.json</a>, this reference as an OpenAPI 3.1 document, into Postman,
        Insomnia or Bruno. What the dashboard calls a workspace is a tenant in the API.
      </p>
      <p className={styles.prose}>
        Members of a workspace can try calls, and see those of their own workflows, in{' '}
        <a href="/?to=reference">the reference of their workspace</a>.
      </p>
      <h2 id="credentials" className={styles.sectionTitle}>
        Credentials
      </h2>
      <dl className={styles.answers}>
        {Object.entries(components.securitySchemes).map(([id, { name, description = '' }]) => (
          <div key={id} className={styles.answer}>
            <dt>
              <code>{name ?? 'Authorization: Bearer'}</code>
            </dt>
            <dd>
              <Inline text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </header>
  )
}

function Errors({ document }: { document: OpenApiDocument }) {
  return (
    <section id="errors" aria-labelledby="errors-title" className={styles.schema}>
      <h2 id="errors-title" className={styles.sectionTitle}>
        Errors
      </h2>
      <p className={styles.prose}>
        Every error is a JSON object (<a href="#schema-Error">Error</a>). Its <code>details</code> say what is wrong
        with the request; search the log for its <code>requestId</code>.
      </p>
      {Object.entries(document.components.examples).map(([code, { summary, value }]) => (
        <div key={code} id={`error-${code}`} className={styles.field}>
          <h3 className={styles.errorTitle}>
            <a href={`#error-${code}`} className={styles.titleLink}>
              {code}
            </a>
          </h3>
          <p className={styles.note}>
            <a href={errorPage(code)}>What it means, and what to do</a>
          </p>
          <ExampleBody title={`${ERRORS[code as ErrorCode].status} ${summary}`} value={value} />
        </div>
      ))}
    </section>
  )
}

function Schemas({ document }: { document: OpenApiDocument }) {
  return (
    <section id="schemas" aria-labelledby="schemas-title">
      <h2 id="schemas-title" className={styles.heading}>
        Schemas
      </h2>
      <p className={styles.lead}>Objects may have more fields than are shown: clients must accept unknown fields.</p>
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <section key={name} id={`schema-${name}`} aria-labelledby={`schema-${name}-title`} className={styles.schema}>
          <h3 id={`schema-${name}-title`} className={styles.title}>
            <a href={`#schema-${name}`} className={styles.titleLink}>
              {name}
            </a>
          </h3>
          {schema.description ? <Prose text={schema.description} className={styles.note} /> : null}
          <SchemaTree schema={schema} anchor={`schema-${name}`} />
        </section>
      ))}
    </section>
  )
}
