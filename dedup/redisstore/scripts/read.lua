return reply(0, load())
