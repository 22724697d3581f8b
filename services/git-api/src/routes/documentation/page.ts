/** The page that shows the API. */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Switchyard API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/api/v4/docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <noscript>This page needs scripts; the API as OpenAPI 3.1 is at <a href="/api/v4/openapi.json">/api/v4/openapi.json</a>.</noscript>
    <script src="/api/v4/docs/swagger-ui-bundle.js"></script>
    <script src="/api/v4/docs/start.js"></script>
  </body>
</html>
`

/** A separate file: the content security policy of the page forbids inline scripts. */
export const pageScript = `SwaggerUIBundle({
  url: '/api/v4/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
})
`
