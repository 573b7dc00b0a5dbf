export default function HomePage() {
  return (
    <main>
      <h1>Millrace</h1>
      <p>
        The service is running. The dashboard is on its way; the HTTP interface is here now:{' '}
        <a href="/reference">API reference</a>, <a href="/api/openapi.json">OpenAPI document</a>,{' '}
        <a href="/api/health">health</a>.
      </p>
      <pre>{`curl -s -X POST "$BASE_URL/api/workflow/start/wf_hello" \\
  -H "x-api-key: $API_KEY" -H "x-tenant-id: $TENANT_ID" \\
  -H "content-type: application/json" -d '{"name":"Ada"}'`}</pre>
      <p>
        Key and tenant id were printed at the first start and lie in <code>credentials.json</code> in the data folder.
      </p>
    </main>
  )
}
