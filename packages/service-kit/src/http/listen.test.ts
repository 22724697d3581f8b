import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import { expect, it } from 'vitest'
import { messagesOf } from './listen.js'

it('makes requests and responses with the prototypes that express gives them, and with all of its methods', () => {
  const app = express()
  const messages = messagesOf(app)
  const request = new messages.IncomingMessage(new Socket())
  const response = new messages.ServerResponse(request)

  expect(Object.getPrototypeOf(request)).toBe(app.request)
  expect(Object.getPrototypeOf(response)).toBe(app.response)
  expect(request).toBeInstanceOf(IncomingMessage)
  expect(response).toBeInstanceOf(ServerResponse)
  expect(request).toMatchObject({ app, accepts: express.request.accepts })
  expect(response).toMatchObject({ app, json: express.response.json })
})
