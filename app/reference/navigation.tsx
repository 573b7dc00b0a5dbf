import { Mark } from '@/app/_ui/mark'
import type { OpenApiDocument } from '@/server/openapi/types'
import { Method } from './method'
import styles from './navigation.module.css'

/** Next to the text on wide screens, collapsed above it on phones. */
export function Navigation({ document }: { document: OpenApiDocument }) {
  return (
    <>
      <a href="#reference" className={styles.skip}>
        Skip to the reference
      </a>
      <header className={styles.bar}>
        <Brand />
        <Others />
      </header>
      <details className={styles.menu}>
        <summary>Contents</summary>
        <Links document={document} label="Contents" />
      </details>
      <div className={styles.side}>
        <Links document={document} label="Operations" />
      </div>
    </>
  )
}

export function operationsOf(document: OpenApiDocument, tag: string) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

function Brand() {
  return (
    <p className={styles.brand}>
      <a href="/" className={styles.home}>
        <Mark size={24} />
        Millrace
      </a>{' '}
      API
    </p>
  )
}

/** The other pages that anybody may read. */
function Others() {
  return (
    <p className={styles.others}>
      <a href="/errors">Error codes</a> <a href="/health">Health</a>
    </p>
  )
}

function Links({ document, label }: { document: OpenApiDocument; label: string }) {
  return (
    <nav aria-label={label} className={styles.nav}>
      <div className={styles.top}>
        <Brand />
        <Others />
      </div>
      {document.tags.map(({ name }) => (
        <div key={name}>
          <p className={styles.group}>
            <a href={`#tag-${name}`} className={styles.groupLink}>
              {name}
            </a>
          </p>
          <ul>
            {operationsOf(document, name).map(({ method, operation }) => (
              <li key={operation.operationId}>
                <a href={`#${operation.operationId}`} className={styles.entry}>
                  <Method name={method} /> {operation.summary}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p className={styles.group}>
        <a href="#errors" className={styles.groupLink}>
          Errors
        </a>
      </p>
      <p className={styles.group}>
        <a href="#schemas" className={styles.groupLink}>
          Schemas
        </a>
      </p>
    </nav>
  )
}
